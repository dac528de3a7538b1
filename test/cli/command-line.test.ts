// How `kedge` comes to run: from its bundle, which is made anew where a source has changed.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fingerprintAsRead } from '../../src/cli/build.ts'
import { PROJECT, fingerprint, freshBuild } from '../../src/cli/fresh-build.mjs'

const directories: string[] = []
const newDirectory = (): string => {
  directories.push(realpathSync(mkdtempSync(join(tmpdir(), 'kedge-build-'))))
  return directories.at(-1)!
}
afterAll(() => directories.forEach((directory) => rmSync(directory, { recursive: true, force: true })))

describe('a build', () => {
  const [time, size] = fingerprint('package.json')
  const inputs = { 'package.json': [time, size] }

  test.each<[string, unknown, boolean]>([
    ['of the present sources', { inputs, modules: ['main.js'] }, true],
    ['of an older source', { inputs: { 'package.json': [time - 1, size] }, modules: ['main.js'] }, false],
    ['of a source of another size', { inputs: { 'package.json': [time, size + 1] }, modules: ['main.js'] }, false],
    ['of a source that has gone', { inputs: { ...inputs, 'gone.ts': [1, 1] }, modules: ['main.js'] }, false],
    ['whose output has gone', { inputs, modules: ['main.js', 'gone.js'] }, false],
    ['whose output is a directory', { inputs, modules: ['.'] }, false],
    ['without outputs', { inputs, modules: [] }, false],
    ['in another form: no inputs', { modules: ['main.js'] }, false],
    ['in another form: no modules', { inputs }, false],
    ['in another form: modules by name', { inputs, modules: { 'main.js': 1 } }, false],
    ['in another form: null', null, false],
  ])('%s: fresh is $2', (_, build, isFresh) => {
    const directory = newDirectory()
    writeFileSync(join(directory, 'main.js'), '')
    writeFileSync(join(directory, 'build.json'), JSON.stringify(build))
    expect(freshBuild(directory)).toEqual(isFresh ? build : undefined)
  })

  test.each([
    ['that does not exist', undefined],
    ['that is cut off', '{"inputs":'],
  ])('%s is not fresh', (_, text) => {
    const directory = newDirectory()
    if (text !== undefined) writeFileSync(join(directory, 'build.json'), text)
    expect(freshBuild(directory)).toBeUndefined()
  })
})

describe('a source counts as built', () => {
  const source = join(newDirectory(), 'source.ts')
  const path = relative(PROJECT, source)
  const now = Date.now()

  test.each([
    ['where it changed before the build began', now - 60_000, true],
    ['not where it changed while the build read', now - 20_000, false],
    ['where its time is in the future, by another clock', now + 3_600_000, true],
  ])('%s', (_, changedAt, counts) => {
    writeFileSync(source, '')
    utimesSync(source, changedAt / 1000, changedAt / 1000)
    expect(`${fingerprintAsRead(path, now - 30_000)}` === `${fingerprint(path)}`).toBe(counts)
  })
})

describe('the command', () => {
  let checkout: string
  beforeAll(() => {
    checkout = newDirectory()
    for (const name of ['src', 'durable-objects', 'migrations', 'package.json', 'package-lock.json', 'wrangler.toml'])
      cpSync(join(PROJECT, name), join(checkout, name), { recursive: true })
    symlinkSync(join(PROJECT, 'node_modules'), join(checkout, 'node_modules'))
  })

  /** What it prints, and the project's files that Node loads for it, relative to the checkout. */
  const run = (): { printed: string; loaded: readonly string[] } => {
    const hook = `import { registerHooks } from 'node:module'
      registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) })`
    const args = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, 'src/cli/kedge.mjs', 'version']
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: checkout, encoding: 'utf8' })
    const loaded = stderr.split('\n').filter((url) => url.includes(`${checkout}/`))
    return { printed: stdout, loaded: loaded.map((url) => url.slice(url.indexOf(checkout) + checkout.length + 1)) }
  }
  const VERSION = /^kedge \S+ \(Kubernetes v1\.36\.\d+\)\n$/

  test('runs from its bundle, the first time too', () => {
    for (const _ of ['builds', 'has a build']) {
      const { printed, loaded } = run()
      expect(printed).toMatch(VERSION)
      expect(loaded.filter((file) => !file.startsWith('dist/cli/'))).toEqual([
        'src/cli/kedge.mjs',
        'src/cli/fresh-build.mjs',
      ])
      expect(loaded).toContain('dist/cli/main.js')
    }
  }, 60_000)

  test('runs what a changed source says', () => {
    const source = join(checkout, 'src/cli/main.ts')
    writeFileSync(source, `console.log('changed')\n`, { flag: 'a' })
    utimesSync(source, 1, 1)
    expect(run().printed).toMatch(/^changed\nkedge /)
  }, 60_000)

  test('runs from its sources where nothing can be built', () => {
    rmSync(join(checkout, 'dist'), { recursive: true })
    writeFileSync(join(checkout, 'dist'), 'no directory')
    const { printed, loaded } = run()
    expect(printed).toContain('kedge ')
    expect(loaded).toContain('src/cli/main.ts')
  }, 60_000)
})

const bundledNode = (): string | undefined => {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return undefined
  }
}

// The bundled Node is there on Linux alone.
describe.skipIf(bundledNode() === undefined)('on an older Node', () => {
  const older = `globalThis.process = Object.create(process, { versions: { value: { node: '20.0.0' } } })`

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s to the launcher alone stops the server',
    async (signal) => {
      const args = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, 'src/cli/kedge.mjs', 'start']
      const launcher = spawn(process.execPath, [...args, '--ephemeral', '--port', '0', '--workloads', 'off'], {
        cwd: PROJECT,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(launcher, 'exit')
      await once(launcher.stdout, 'data')
      launcher.kill(signal)
      // a launcher that does not end is killed and has no exit code
      const timer = setTimeout(() => launcher.kill('SIGKILL'), 15_000)
      expect(await ended).toEqual([0, null])
      clearTimeout(timer)
    },
    60_000,
  )
})
