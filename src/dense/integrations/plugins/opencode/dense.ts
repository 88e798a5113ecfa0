// DENSE for opencode: feedback on the project's last session goes into the first request of the next one.
// `dense setup opencode` writes this file, `dense setup opencode --undo` removes it.
import { spawn, spawnSync } from "node:child_process"

const HOOK = "@HOOK@"

export const Dense = async ({ directory }: { directory: string }) => {
  const given = new Map<string, string>()
  const input = (session: string) => JSON.stringify({ session_id: session, cwd: directory })
  const start = (session: string) => {
    if (!given.has(session)) {
      const done = spawnSync(HOOK, ["session-start", "--agent", "opencode"], { input: input(session), timeout: 3000, encoding: "utf8" })
      let text = ""
      try {
        text = JSON.parse(done.stdout || "{}").hookSpecificOutput?.additionalContext ?? ""
      } catch {}
      given.set(session, text)
    }
    return given.get(session) ?? ""
  }
  return {
    "experimental.chat.system.transform": async (call: { sessionID?: string }, output: { system: string[] }) => {
      // The same hook runs for the request that only asks for a title of the session.
      if (/\btitle\b/i.test(output.system.join("\n").slice(0, 200))) return
      const text = call.sessionID ? start(call.sessionID) : ""
      if (text) output.system.push(text)
    },
    event: async ({ event }: { event: { type: string; properties?: { sessionID?: string } } }) => {
      const session = event.properties?.sessionID
      if (event.type !== "session.idle" || !session) return
      const child = spawn(HOOK, ["session-end", "--agent", "opencode"], { detached: true, stdio: ["pipe", "ignore", "ignore"] })
      child.on("error", () => {})
      child.stdin.end(input(session))
      child.unref()
    },
  }
}
