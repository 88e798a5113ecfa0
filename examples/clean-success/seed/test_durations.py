import unittest

from durations import parse_duration


class ParseDuration(unittest.TestCase):
    def test_one_part(self):
        self.assertEqual(parse_duration("90s"), 90)
        self.assertEqual(parse_duration("5m"), 300)

    def test_hours(self):
        self.assertEqual(parse_duration("2h"), 7200)

    def test_several_parts(self):
        self.assertEqual(parse_duration("1h30m"), 5400)

    def test_upper_case(self):
        self.assertEqual(parse_duration("2D"), 172800)

    def test_not_a_duration(self):
        for text in ("", "soon", "5", "5m later"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                parse_duration(text)


if __name__ == "__main__":
    unittest.main()
