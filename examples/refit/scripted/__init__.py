"""An agent's model that is a script: what it does follows from the conversation and a seed, and from nothing else.

    request → conversation → reading (of the message) + screen (of this run) → facts → agent → reply

It explores as a middling agent does, in an order that the seed draws, and reads what it was told as plain text. It is
no language model, and nothing that is measured with it says anything about one."""
