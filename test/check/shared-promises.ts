/**
 * A promise that outlives its request may never settle: the engine ends a request whose client disconnects in the
 * middle of an `await`, and all other awaiters of that promise then wait for ever. Shared results are kept as a
 * SharedValue, behind a SharedCall (src/tenancy), or once they are known. Any other stored promise has `Settles:` in
 * the comment above it, which says why it settles.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commentAbove } from './bounded-state.ts'

/** A member of an object, interface or module whose value is a promise or contains promises. */
const KEPT =
  /^(?:(?:export )?(?:const|let) |  (?:(?:private|protected|public|readonly|static|declare) )+|  (?=\w+\??: Promise<))(#?\w+)\b\??(?:: (?!\()| = new )(?!.*=>).*\bPromise</

/**
 * Places where no state outlives a request, or where state lives in an object or process that no client can end by
 * disconnecting.
 */
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
