import random
import unittest

from pairs import count_pairs


class CountPairs(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(count_pairs([]), 0)
        self.assertEqual(count_pairs([5]), 0)

    def test_limit_is_included(self):
        self.assertEqual(count_pairs([0, 10]), 1)
        self.assertEqual(count_pairs([0, 11]), 0)

    def test_equal_readings(self):
        self.assertEqual(count_pairs([7, 7, 7]), 3)

    def test_any_order(self):
        readings = random.Random(1).sample(range(1000), 200)
        slow = sum(abs(a - b) <= 10 for i, a in enumerate(readings) for b in readings[i + 1 :])
        self.assertEqual(count_pairs(readings), slow)


if __name__ == "__main__":
    unittest.main()
