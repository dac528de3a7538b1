/**
 * A promise that outlives the request which made it may never settle: the engine ends a request whose client hangs up in
 * the middle of an `await`, and everybody who waits for its promise then waits for ever. What is shared is kept as a
 * SharedValue or behind a SharedCall (src/tenancy), or once it is there; a promise that is kept nevertheless has
 * `Settles:` in the comment above it, which says why it does.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commentAbove } from './bounded-state.ts'

/** At module level, in an object or an interface: a value that is a promise, or holds some. */
const KEPT =
  /^(?:(?:export )?(?:const|let) |  (?:(?:private|protected|public|readonly|static|declare) )+|  (?=\w+\??: Promise<))(#?\w+)\b\??(?:: (?!\()| = new )(?!.*=>).*\bPromise</

/** Where nothing lives longer than a request; or in an object or a process, which no client's hanging up ends. */
const ELSEWHERE = /^(src\/(admission|cli|controllers)|durable-objects)\//

export function keptPromisesIn(path: string, text: string): string[] {
  if (ELSEWHERE.test(path)) return []
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const name = KEPT.exec(line)?.[1]
    if (name === undefined || /\bSettles: /.test(commentAbove(lines, at))) return []
    return [`${path}: ${name}`]
  })
}

/** `FILE: NAME` */
export const keptPromises = (root: string): string[] =>
  globSync(['src/**/*.ts', 'durable-objects/**/*.ts'], { cwd: root }).flatMap((path) =>
    keptPromisesIn(path, readFileSync(join(root, path), 'utf8')),
  )
