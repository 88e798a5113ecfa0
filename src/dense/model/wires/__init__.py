"""The wire formats of providers: pure functions between chat requests and JSON.

`wire` has what both formats share, `anthropic` and `openai` are the formats, `schemas` narrows JSON Schemas to what a
provider takes, `failures` says what an error response means. In: a `ChatRequest`, or a response's bytes; out: a request
as JSON, or a `WireReply` or `WireFailure`. Never imports aiohttp or anything that does I/O."""
