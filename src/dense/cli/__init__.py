"""The command line: arguments in, one call of the service or of REFIT, text out. Only this package prints.

`app` has all commands. Each command has a module with its options, loaded at the start; what it does is in modules
beside it, loaded when it runs. In: arguments. Out: text and an exit code. Nothing else may import this package, and it
never imports Harbor, matplotlib or a model's client itself."""
