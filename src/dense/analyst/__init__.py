"""The judgements: questions, answers, and who answers them."""
