// For `node --import`: gives the engine of `kedge start` more V8 flags ($KEDGE_BENCH_V8_FLAGS) and an inspector
// ($KEDGE_BENCH_INSPECTOR, HOST:PORT). The server itself has no setting for either.
import childProcess from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { KEDGE_BENCH_V8_FLAGS: flags = '', KEDGE_BENCH_INSPECTOR: inspector = '' } = process.env
const { writeFileSync } = fs
const { spawn } = childProcess

fs.writeFileSync = (file, data, ...rest) => {
  const isEngines = String(file).endsWith('/workerd.capnp')
  const more = flags.split(' ').filter(Boolean)
  // V8 takes the last of several values
  const text = more.map((flag) => `, ${JSON.stringify(flag)}`).join('')
  return writeFileSync(file, isEngines ? data.replace(/(v8Flags = \[[^\]]*)/, `$1${text}`) : data, ...rest)
}
childProcess.spawn = (command, args, ...rest) => {
  const isEngine = String(command).endsWith('/workerd') && args?.[0] === 'serve'
  return spawn(command, isEngine && inspector !== '' ? [...args, `--inspector-addr=${inspector}`] : args, ...rest)
}
syncBuiltinESMExports()
