// How `kedge` comes to run: from its bundle, which is made anew where a source has changed.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs'
import { symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fingerprintAsRead } from '../../src/cli/build/build.ts'
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

describe('the output', () => {
  /** A data directory with the file that `kedge token` prints. */
  const withToken = (): string => {
    const directory = newDirectory()
    mkdirSync(join(directory, 'pki'))
    writeFileSync(join(directory, 'pki/admin.token'), 'a token')
    return directory
  }
  const run = (stdout: 'pipe' | number, ...args: string[]) =>
    spawn(process.execPath, ['src/cli/kedge.mjs', ...args], { cwd: PROJECT, stdio: ['ignore', stdout, 'pipe'] })

  test.each([
    ['help', ['help']],
    ['token', ['token', '--data-dir']],
  ])('%s ends in peace where its reader is gone', async (_command, args) => {
    const child = run('pipe', ...args, ...(args.length > 1 ? [withToken()] : []))
    child.stdout!.destroy()
    const printed = text(child.stderr!)
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(await printed).toBe('')
  })

  test.skipIf(process.platform !== 'linux')('a full disk is an error', async () => {
    const full = openSync('/dev/full', 'w')
    const child = run(full, 'token', '--data-dir', withToken())
    const printed = text(child.stderr!)
    expect(await once(child, 'exit')).toEqual([1, null])
    expect(await printed).toMatch(/^kedge: the output could not be written: ENOSPC/)
    closeSync(full)
  })

  test('a server whose audit log has lost its reader serves on', async () => {
    const policy = join(newDirectory(), 'policy.json')
    writeFileSync(policy, '{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}')
    const flags = ['--ephemeral', '--port', '0', '--workloads', 'off', '--audit-log-mode', 'blocking']
    const child = run('pipe', 'start', ...flags, '--audit-policy-file', policy, '--audit-log-path', '-')
    const ended = once(child, 'exit')
    child.stderr!.resume() // it tells of each event that is lost
    let printed = ''
    for await (const chunk of child.stdout!) if (/API at https/.test((printed += String(chunk)))) break
    child.stdout!.destroy()
    const [url = ''] = /https:\S+/.exec(printed) ?? []
    for (let request = 0; request < 3; request++) expect(await statusOf(`${url}/version`)).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  }, 30_000)
})

const statusOf = (url: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    }).once('error', reject)
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
