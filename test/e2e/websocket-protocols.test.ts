// exec, attach, port-forward and logs of a pod on a simulated node over WebSockets, in each sub-protocol that a kubelet
// and kube-apiserver speak.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { eventually } from '../eventually.ts'
import { ApiClient } from './api-client.ts'
import type { Shaken } from './raw-socket.ts'
import { OPCODES, clientFrame, framesOf, shakeHands } from './raw-socket.ts'

const PODS = '/api/v1/namespaces/default/pods'
const TEXT = 'simulated: container c runs no process, this is no output of: echo hi'
const FIRST = 'simulated: container c of image nginx runs no process, this is no output of it\n'
const pod = {
  metadata: { name: 'web', annotations: { 'kedge.dev/exec-exit-code': '3', 'kedge.dev/log': 'ä'.repeat(2000) } },
  spec: { containers: [{ name: 'c', image: 'nginx', ports: [{ containerPort: 80 }] }] },
}

let server: KedgeProcess
let client: ApiClient

beforeAll(async () => {
  server = await startKedge(['--nodes', '1'])
  client = new ApiClient(server.kubeconfig)
  await client.send('POST', PODS, pod)
  await eventually(async () => {
    const { body } = await client.send('GET', `${PODS}/web`)
    expect((body as { status?: { phase?: string } }).status?.phase).toBe('Running')
  })
})
afterAll(() => server.stop())

const open = (path: string, protocols?: string): Promise<Shaken> =>
  shakeHands(
    `${server.url}${PODS}/web/${path}`,
    client.token,
    protocols === undefined ? {} : { 'Sec-WebSocket-Protocol': protocols },
  )

/** All messages until the server closes: each as its kind, and what it says. */
async function heard(shaken: Shaken): Promise<[keyof typeof OPCODES, Buffer][]> {
  const messages: [keyof typeof OPCODES, Buffer][] = []
  for await (const { opcode, payload } of framesOf(shaken)) {
    if (opcode === OPCODES.close) {
      shaken.socket!.destroy()
      expect(payload.readUInt16BE(0)).toBe(1000)
      break
    }
    messages.push([opcode === OPCODES.text ? 'text' : 'binary', payload])
  }
  return messages
}

type Said = [channel: number, text: string]

function said(messages: readonly [string, Buffer][], isBase64: boolean): Said[] {
  return messages.map(([kind, payload]) => {
    expect(kind).toBe(isBase64 ? 'text' : 'binary')
    if (!isBase64) return [payload[0]!, payload.subarray(1).toString()]
    return [payload[0]! - 48, Buffer.from(payload.subarray(1).toString(), 'base64').toString()]
  })
}

const FAILED = 'command terminated with non-zero exit code: exit status 3'
const STATUS = expect.stringContaining('"reason":"NonZeroExitCode"')
const EXEC = 'exec?command=echo&command=hi&stdout=1&stderr=1'

describe('exec', () => {
  test.each([
    [undefined, undefined, FAILED],
    ['channel.k8s.io', 'channel.k8s.io', FAILED],
    ['base64.channel.k8s.io', 'base64.channel.k8s.io', FAILED],
    ['v4.channel.k8s.io', 'v4.channel.k8s.io', STATUS],
    ['v4.base64.channel.k8s.io', 'v4.base64.channel.k8s.io', STATUS],
    ['v5.channel.k8s.io', 'v5.channel.k8s.io', STATUS],
    ['v9.channel.k8s.io, channel.k8s.io, v4.channel.k8s.io', 'channel.k8s.io', FAILED],
    ['channel.k8s.io, v5.channel.k8s.io', 'v5.channel.k8s.io', STATUS],
  ])('asked for %s', async (asked, agreed, failure) => {
    const shaken = await open(EXEC, asked)
    expect([shaken.status, shaken.headers['sec-websocket-protocol']]).toEqual([101, agreed])
    const messages = said(await heard(shaken), agreed?.includes('base64') === true)
    expect(messages).toEqual([
      [1, ''],
      [1, `${TEXT}\n`],
      [3, failure],
    ])
  })

  test.each([
    ['stdout=1&stderr=1&tty=1', [1, ''], [1, `${TEXT}\r\n`]],
    ['stderr=1', [2, ''], [2, `${TEXT}\n`]],
  ])('with %s', async (streams, ...first) => {
    const messages = said(
      await heard(await open(`exec?command=echo&command=hi&${streams}`, 'v4.channel.k8s.io')),
      false,
    )
    expect(messages).toEqual([...first, [3, STATUS]])
  })

  test('with stdin alone, the channel of errors says that the connection is there', async () => {
    const messages = said(await heard(await open('exec?command=echo&stdin=1', 'channel.k8s.io')), false)
    expect(messages).toEqual([
      [3, ''],
      [3, FAILED],
    ])
  })

  test.each([
    ['exec?command=echo', 'v4.channel.k8s.io', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    [EXEC, 'v9.channel.k8s.io', 403, expect.stringContaining('v4.base64.channel.k8s.io')],
    ['portforward', 'v4.channel.k8s.io', 400, 'query parameter "port" is required'],
    ['portforward?ports=0', 'v4.channel.k8s.io', 400, 'unable to parse "0" as a port'],
    ['portforward?ports=80', 'channel.k8s.io', 403, expect.stringContaining('v4.channel.k8s.io')],
    ['log', 'channel.k8s.io', 403, ''],
  ])('%s in %s is refused', async (path, protocol, status, text) => {
    const shaken = await open(path, protocol)
    expect([shaken.status, shaken.text]).toEqual([status, text])
  })
})

test.each([
  ['channel.k8s.io', false],
  ['base64.channel.k8s.io', true],
])('attach in %s', async (protocol, isBase64) => {
  const shaken = await open('attach?stdout=1', protocol)
  const messages: [string, Buffer][] = []
  for await (const { opcode, payload } of framesOf(shaken))
    if (messages.push([opcode === OPCODES.text ? 'text' : 'binary', payload]) === 2) break
  shaken.socket!.destroy()
  expect(said(messages, isBase64)).toEqual([
    [1, ''],
    [1, FIRST],
  ])
})

test.each([
  [undefined, false],
  ['v4.channel.k8s.io', false],
  ['v4.base64.channel.k8s.io', true],
])('port-forward in %s', async (protocol, isBase64) => {
  const shaken = await open('portforward?ports=80&ports=81', protocol)
  expect(shaken.headers['sec-websocket-protocol']).toBe(protocol)
  const request = 'GET / HTTP/1.1\r\n\r\n'
  const sent = isBase64 ? `0${Buffer.from(request).toString('base64')}` : `\0${request}`
  shaken.socket!.write(clientFrame(isBase64 ? OPCODES.text : OPCODES.binary, Buffer.from(sent)))
  const messages = said(await heard(shaken), isBase64)
  expect(messages).toEqual([
    [0, 'P\0'],
    [1, 'P\0'],
    [2, 'Q\0'],
    [3, 'Q\0'],
    [3, expect.stringContaining('connection refused')],
    [0, expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n/)],
  ])
})

test.each([
  [undefined, 'binary'],
  ['binary.k8s.io', 'binary'],
  ['base64.binary.k8s.io', 'text'],
])('logs in %s', async (protocol, kind) => {
  const shaken = await open('log', protocol)
  expect([shaken.status, shaken.headers['sec-websocket-protocol']]).toEqual([101, protocol])
  const messages = await heard(shaken)
  expect(new Set(messages.map(([one]) => one))).toEqual(new Set([kind]))
  const parts = messages.map(([, data]) => (kind === 'text' ? Buffer.from(data.toString(), 'base64') : data))
  expect(parts[0]).toHaveLength(0)
  expect(Math.max(...parts.map(({ length }) => length))).toBe(2048)
  expect(Buffer.concat(parts).toString()).toBe(`${FIRST}${pod.metadata.annotations['kedge.dev/log']}\n`)
})

test('logs of a command that is understood are what it prints, while it runs and afterwards', async () => {
  const command = ['sh', '-c', 'echo alive; sleep 4; echo "still alive"; sleep 4; echo over']
  const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox', command }] }
  await client.send('POST', PODS, { metadata: { name: 'speaks' }, spec })
  const shaken = await eventually(async () => {
    const { body } = await client.send('GET', `${PODS}/speaks`)
    expect(JSON.stringify(body)).toContain('startedAt')
    return shakeHands(`${server.url}${PODS}/speaks/log?follow=true`, client.token, {})
  })
  const text = Buffer.concat((await heard(shaken)).map(([, data]) => data)).toString()
  expect(text).toBe('alive\nstill alive\nover\n')
})
