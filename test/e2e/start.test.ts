// The server as a process: start, stop, signals, locks, ports, what is left behind.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { Session, skipWithoutKubectl } from './session.ts'

let dataDir: string
let running: KedgeProcess[]
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'kedge-start-'))
  running = []
})
afterEach(async () => {
  await Promise.all(running.map((server) => server.stop('SIGKILL')))
  await expect.poll(() => running.flatMap(enginesOf)).toEqual([])
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

async function start(...flags: string[]): Promise<KedgeProcess> {
  const server = await startKedge([
    '--port',
    '0',
    ...(flags.includes('--ephemeral') ? [] : ['--data-dir', dataDir]),
    ...flags,
  ])
  running.push(server)
  return server
}

/** The engines that run on the server's data, no matter who started them. */
function enginesOf(server: KedgeProcess): number[] {
  const config = join(dirname(server.kubeconfig), 'run', 'workerd.capnp')
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(config)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** A second start that is expected to fail. */
async function refused(...flags: string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [LAUNCHER, 'start', ...flags])
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, stderr }
}

/** Opens a watch and resolves with a promise of its end. */
function watch(server: KedgeProcess, path: string): Promise<{ ended: Promise<void> }> {
  const { users } = JSON.parse(readFileSync(server.kubeconfig, 'utf8')) as { users: [{ user: { token: string } }] }
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${users[0].user.token}` }
    const outgoing = request(server.url + path, { headers, rejectUnauthorized: false, agent: false }, (response) => {
      const ended = new Promise<void>((end) => response.on('close', end).on('error', () => {}))
      response.resume()
      resolve({ ended })
    })
    outgoing.on('error', reject).end()
  })
}

describe('start', () => {
  test('prints where it serves; the kubeconfig works and only its owner can read it', async (context) => {
    skipWithoutKubectl(context)
    const server = await start()
    expect(server.output()).toContain(`export KUBECONFIG=${join(dataDir, 'kubeconfig')}\n`)
    expect(statSync(server.kubeconfig).mode & 0o777).toBe(0o600)
    const kubectl = new Session(server.kubeconfig)
    expect(await kubectl.run('config current-context')).toBe('kedge\n')
    expect(await kubectl.run('auth whoami -o jsonpath={.status.userInfo.username}')).toBe('kubernetes-admin')
    kubectl.close()
  })

  test('is ready when it has said where it serves', async (context) => {
    skipWithoutKubectl(context)
    const server = await start()
    const kubectl = new Session(server.kubeconfig)
    expect(await kubectl.run('get --raw /readyz')).toBe('ok')
    kubectl.close()
  })

  test('written objects are there after a restart, under the same credential', async (context) => {
    skipWithoutKubectl(context)
    const first = await start()
    const kubeconfig = readFileSync(first.kubeconfig, 'utf8')
    const before = new Session(first.kubeconfig)
    await before.run('create configmap kept --from-literal=a=1')
    expect(await first.stop()).toBe(0)
    const second = await start('--port', new URL(first.url).port)
    expect(readFileSync(second.kubeconfig, 'utf8')).toBe(kubeconfig)
    expect(await before.run('get configmap kept -o jsonpath={.data.a}')).toBe('1')
    before.close()
  })

  test('a namespace chosen in the kubeconfig stays chosen', async (context) => {
    skipWithoutKubectl(context)
    const first = await start()
    const kubectl = new Session(first.kubeconfig)
    await kubectl.run('config set-context --current --namespace=kube-system')
    await first.stop()
    await start('--port', new URL(first.url).port)
    expect(await kubectl.run('config view --minify -o jsonpath={..namespace}')).toBe('kube-system')
    kubectl.close()
  })

  test('--ephemeral leaves nothing behind', async () => {
    const server = await start('--ephemeral')
    const directory = dirname(server.kubeconfig)
    expect(existsSync(directory)).toBe(true)
    expect(await server.stop()).toBe(0)
    expect(existsSync(directory)).toBe(false)
  })

  test('--san adds names to the certificate, also later', async () => {
    const names = async (server: KedgeProcess): Promise<string> =>
      new Promise((resolve, reject) => {
        const outgoing = request(server.url + '/version', { rejectUnauthorized: false, agent: false }, (response) => {
          // With agent false the connection is TLS's own.
          const { subjectaltname } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate()
          response.resume().on('end', () => resolve(subjectaltname ?? ''))
        })
        outgoing.on('error', reject).end()
      })
    const first = await start()
    expect(await names(first)).toMatch(/DNS:localhost.*IP Address:127\.0\.0\.1.*IP Address:0:0:0:0:0:0:0:1/)
    await first.stop()
    expect(await names(await start('--san', 'api.example.com,192.0.2.7'))).toMatch(
      /DNS:localhost.*DNS:api\.example\.com.*IP Address:192\.0\.2\.7/,
    )
  })
})

describe('refusals', () => {
  test('a directory in use', async () => {
    const server = await start()
    const { code, stderr } = await refused('--port', '0', '--data-dir', dataDir)
    expect(code).toBe(1)
    expect(stderr).toBe(
      `kedge: The data directory ${dataDir} is in use by another kedge (process ${server.process.pid}). ` +
        'Stop that one first, or choose another directory with --data-dir.\n',
    )
  })

  test('a port that is taken', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { code, stderr } = await refused('--port', String(port), '--data-dir', dataDir)
    expect(code).toBe(1)
    expect(stderr).toBe(
      `kedge: Port ${port} on 127.0.0.1 is already in use. ` +
        'Stop the program that has it, or choose another with --port (0 finds a free one).\n',
    )
    other.close()
    expect(existsSync(join(dataDir, 'lock'))).toBe(false)
  })
})

describe('the end', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s ends it, and watches that would go on for half an hour',
    async (signal) => {
      const server = await start()
      const watches = await Promise.all([
        watch(server, '/api/v1/configmaps?watch=1'),
        watch(server, '/api/v1/pods?watch=1&allowWatchBookmarks=true'),
      ])
      expect(await server.stop(signal)).toBe(0)
      await Promise.all(watches.map(({ ended }) => ended))
      expect(enginesOf(server)).toEqual([])
      expect(existsSync(join(dataDir, 'lock'))).toBe(false)
    },
  )

  test('SIGTERM to npm start reaches it', async () => {
    const npm = spawn('npm', ['start', '--silent', '--', '--port', '0', '--data-dir', dataDir], {
      cwd: join(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise<void>((resolve) => npm.stdout.on('data', (text) => /KUBECONFIG/.test(String(text)) && resolve()))
    const ended = new Promise((resolve) => npm.once('exit', resolve))
    npm.kill('SIGTERM')
    await ended
    await expect.poll(() => existsSync(join(dataDir, 'lock'))).toBe(false)
  })

  test('kill -9 takes the engine along, and the directory can be used at once', async (context) => {
    skipWithoutKubectl(context)
    const server = await start()
    expect(enginesOf(server)).toHaveLength(1)
    await server.stop('SIGKILL')
    const next = await start()
    await expect.poll(() => enginesOf(next)).toHaveLength(1)
    const kubectl = new Session(next.kubeconfig)
    expect(await kubectl.run('get --raw /readyz')).toBe('ok')
    kubectl.close()
  })

  test('an engine that dies is started again', async (context) => {
    skipWithoutKubectl(context)
    const server = await start()
    const [engine] = enginesOf(server)
    process.kill(engine!, 'SIGKILL')
    const kubectl = new Session(server.kubeconfig)
    await expect.poll(async () => (await kubectl.try(['get', '--raw', '/readyz'])).stdout).toBe('ok')
    expect(server.output()).toContain('the engine (workerd) ended unexpectedly and is started again')
    kubectl.close()
  })
})
