#!/usr/bin/env node
// Starts the command line (main.ts). Node 22.18 and newer run TypeScript as it is; an older one hands over to the Node
// that the project brings along.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 18)) {
  const { main } = await import('./main.ts')
  await main(process.argv.slice(2))
} else {
  const newer = bundledNode()
  if (newer === undefined) {
    console.error(
      `kedge: Node ${process.versions.node} is too old. Use Node 22.18 or newer, or run "npm install" on Linux, which brings one along.`,
    )
    process.exit(1)
  }
  // The channel tells the child when this process is gone.
  const child = spawn(newer, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  // Ctrl-C reaches both; this one waits for the other.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => signal === 'SIGINT' || child.kill(signal))
  child.on('exit', (code) => process.exit(code ?? 1))
}

function bundledNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return undefined
  }
}
