"""The methods that DENSE is compared with. Each drafts its feedback behind the same contract as DENSE."""
