import { relative } from 'node:path'
import { findingsIn } from './own-keys.ts'

const root = new URL('../..', import.meta.url).pathname
const isOurs = (file: string) => /^(src|durable-objects|migrations)\//.test(relative(root, file))
const findings = findingsIn(
  ['tsconfig.json', 'tsconfig.node.json'].map((name) => root + name),
  isOurs,
)
for (const { file, line, text, why } of findings) console.error(`${relative(root, file)}:${line}: ${text} — ${why}`)
if (findings.length > 0) {
  console.error(`${findings.length} operations may meet a name of Object.prototype (see test/check/own-keys.ts)`)
  process.exit(1)
}
