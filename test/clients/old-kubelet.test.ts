// kubectl uses WebSockets, and an old kubelet (kubelet/main.go) speaks only SPDY. The server translates as
// kube-apiserver does, so that kubectl does not fall back to SPDY.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from '../e2e/api-client.ts'
import { build, freePort, go } from './module-program.ts'

const kubectl = process.env['KUBECTL']
const directory = mkdtempSync(join(tmpdir(), 'kedge-old-kubelet-'))
const children: ChildProcess[] = []
let kedge: KedgeProcess
let asked: string[] = []

const isMissing = kubectl === undefined || go === undefined

async function startKubelet(): Promise<number> {
  const now = new Date()
  const authority = await createAuthority({ commonName: 'node' }, now, 1)
  const leaf = { subject: { commonName: 'node' }, usage: 'server', names: ['127.0.0.1'], days: 1 } as const
  const { certificate, key } = await issue(authority, leaf, now)
  const files = [join(directory, 'cert.pem'), join(directory, 'key.pem')] as const
  writeFileSync(files[0], certificate)
  writeFileSync(files[1], key)
  const program = await build({ module: 'kubelet', package: '.' })
  const kubelet = spawn(program, files, { stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(kubelet)
  let [text, port] = ['', 0]
  return new Promise((resolve) => {
    kubelet.stdout.setEncoding('utf8').on('data', (part: string) => {
      const lines = (text + part).split('\n')
      text = lines.pop() ?? ''
      if (port === 0 && lines.length > 0) resolve((port = Number(lines.shift())))
      asked.push(...lines)
    })
  })
}

beforeAll(async () => {
  if (isMissing) return
  const port = await startKubelet()
  kedge = await startKedge()
  const api = new ApiClient(kedge.kubeconfig)
  const create = async (path: string, object: object): Promise<void> => {
    expect(await api.send('POST', path, object)).toMatchObject({ status: 201 })
  }
  await create('/api/v1/nodes', {
    metadata: { name: 'old' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  })
  const pods = '/api/v1/namespaces/default/pods'
  const spec = { nodeName: 'old', containers: [{ name: 'main', image: 'i' }] }
  await create(pods, { metadata: { name: 'web' }, spec })
  const { body } = await api.send('GET', `${pods}/web`)
  const status = { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }
  expect((await api.send('PUT', `${pods}/web/status`, { ...body, status })).status).toBe(200)
  api.close()
}, 600_000)

beforeEach(() => void (asked = []))

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await kedge?.stop()
  rmSync(directory, { recursive: true, force: true })
})

function started(args: readonly string[]) {
  const child = spawn(kubectl!, args, { env: { ...process.env, KUBECONFIG: kedge.kubeconfig } })
  children.push(child)
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, said, ended }
}

async function run(args: readonly string[], input?: string) {
  const { child, said, ended } = started(args)
  child.stdin.end(input ?? '')
  return { code: await ended, ...said }
}

describe.skipIf(isMissing)('kubectl, a server, and a kubelet that speaks SPDY alone', () => {
  const exec = (query: string): string[] => [`POST /exec/default/web/main?${query} SPDY/3.1 v4.channel.k8s.io`]

  test('exec has both outputs', async () => {
    expect(await run(['exec', 'web', '--', 'both'])).toEqual({ code: 0, out: 'to stdout\n', err: 'to stderr\n' })
    expect(asked).toEqual(exec('command=both&error=1&output=1'))
  })

  test('exec passes an input on, and its end', async () => {
    const input = 'line\n'.repeat(200_000)
    const { code, out, err } = await run(['exec', '-i', 'web', '--', 'cat'], input)
    expect({ code, err, isSame: out === input }).toEqual({ code: 0, err: '', isSame: true })
    expect(asked).toEqual(exec('command=cat&error=1&input=1&output=1'))
  })

  test('exec has all of a large output', async () => {
    const { code, out } = await run(['exec', 'web', '--', 'large'])
    expect({ code, length: out.length }).toEqual({ code: 0, length: 1 << 22 })
  })

  test('exec ends with the code of the command, and says what the kubelet says', async () => {
    expect(await run(['exec', 'web', '--', 'exit'])).toMatchObject({ code: 3 })
    const unknown = await run(['exec', 'web', '--', 'unknown'])
    expect(unknown.code).toBe(1)
    expect(unknown.err).toContain('no such command: unknown')
    expect(asked).toHaveLength(2)
  })

  test('attach passes on what is said', async () => {
    const { code, out } = await run(['attach', '-i', 'web'], 'hello\n')
    expect({ code, out }).toEqual({ code: 0, out: 'attached\nhello\n' })
    expect(asked).toEqual(['POST /attach/default/web/main?error=1&input=1&output=1 SPDY/3.1 v4.channel.k8s.io'])
  })

  test('port-forward carries several connections', async () => {
    const port = await freePort()
    const { said } = started(['port-forward', 'pod/web', `${port}:8080`])
    await expect.poll(() => said.out).toContain('Forwarding from')
    const echoed = (text: string): Promise<string> =>
      new Promise((resolve, reject) => {
        let got = ''
        const socket = connect(port, '127.0.0.1', () => void socket.write(text))
        socket.setEncoding('utf8').on('data', (part: string) => {
          got += part
          if (got.length === 'port 8080: '.length + text.length) socket.end(() => resolve(got))
        })
        socket.on('error', reject)
      })
    const texts = ['one', 'two', 'x'.repeat(300_000)]
    expect(await Promise.all(texts.map(echoed))).toEqual(texts.map((text) => `port 8080: ${text}`))
    expect(asked).toEqual(['POST /portForward/default/web SPDY/3.1 portforward.k8s.io'])
  })
})
