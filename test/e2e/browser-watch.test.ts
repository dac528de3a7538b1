// A real browser: a page of another origin watches over a WebSocket with its token as a sub-protocol, because it cannot
// set headers. A page of the server's own origin may also use fetch.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../eventually.ts'
import type { ShardStats } from '../../src/storage/shards/shard-protocol.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import { Browser, CHROMIUM } from './browser.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

if (CHROMIUM === undefined) console.log('Skipped: there is no Chromium at $CHROMIUM or /usr/bin/chromium.')

describe.skipIf(CHROMIUM === undefined)('a page in a browser', () => {
  let server: KedgeProcess
  let client: ApiClient
  let token: string
  let pages: Server
  let browser: Browser

  beforeAll(async () => {
    server = await startKedge()
    client = new ApiClient(server.kubeconfig)
    const config = JSON.parse(readFileSync(server.kubeconfig, 'utf8')) as { users: [{ user: { token: string } }] }
    token = config.users[0].user.token
    pages = createServer((_, response) =>
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>dashboard</title>'),
    )
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
    browser = await Browser.start()
    // The server requests client certificates, as kube-apiserver does. A browser decides at its first page that it has
    // none for this server; before that decision it aborts a WebSocket.
    await browser.open(`${server.url}/version`)
  })
  afterAll(async () => {
    await browser?.close()
    pages?.close()
    client?.close()
    await server?.stop()
  })

  /** Opens a page with `watch(query, ...protocols)`. The socket that it returns has `events` and `closed`. */
  async function dashboard() {
    const { port } = pages.address() as AddressInfo
    const page = await browser.open(`http://127.0.0.1:${port}/`)
    await page.run(`
      const encoded = (text) => btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
      globalThis.protocolOf = (token) => 'base64url.bearer.authorization.k8s.io.' + encoded(token)
      globalThis.token = ${JSON.stringify(token)}
      globalThis.watch = (query, ...protocols) => {
        const url = ${JSON.stringify(server.url.replace('https', 'wss') + CONFIG_MAPS)} + '?watch=1' + query
        const socket = new WebSocket(url, protocols)
        socket.events = []
        socket.onmessage = ({ data }) => socket.events.push(JSON.parse(data))
        socket.opened = new Promise((resolve) => (socket.onopen = () => resolve(socket.protocol)))
        socket.closed = new Promise((resolve) => (socket.onclose = ({ code, wasClean }) => resolve([code, wasClean])))
        socket.has = async (count) => {
          for (let tries = 0; tries < 2_000 && socket.events.length < count; tries++)
            await new Promise((resolve) => setTimeout(resolve, 50))
          return socket.events.map(({ type, object }) => [type, object.metadata.name, object.data?.n])
        }
        return socket
      }`)
    return page
  }

  test('watches over a WebSocket', async () => {
    const { body: created } = await client.send('POST', CONFIG_MAPS, { metadata: { name: 'seen' }, data: { n: '1' } })
    const page = await dashboard()
    const selector = '&fieldSelector=metadata.name%3Dseen'
    const protocol = await page.run(`
      globalThis.socket = watch(${JSON.stringify(selector)}, protocolOf(token), 'kedge-test')
      return socket.opened`)
    expect(protocol).toBe('kedge-test')
    expect(await page.run('return socket.has(1)')).toEqual([['ADDED', 'seen', '1']])
    await client.send('PUT', `${CONFIG_MAPS}/seen`, { ...created, data: { n: '2' } })
    await client.send('POST', CONFIG_MAPS, { metadata: { name: 'not-seen' } })
    await client.send('DELETE', `${CONFIG_MAPS}/seen`)
    expect(await page.run('return socket.has(3)')).toEqual([
      ['ADDED', 'seen', '1'],
      ['MODIFIED', 'seen', '2'],
      ['DELETED', 'seen', '2'],
    ])
    // The shard hibernates after ten seconds and starts again. The socket stays open.
    const since = async () => {
      const { body } = await client.send('GET', '/debug/shards?shard=configmaps')
      return (body as unknown as { shards: [ShardStats] }).shards[0].since
    }
    const before = await since()
    await until(async () => {
      await pause(13_000) // a request wakes it
      return (await since()) > before
    })
    await client.send('POST', CONFIG_MAPS, { metadata: { name: 'seen' }, data: { n: '3' } })
    expect(await page.run('return (await socket.has(4)).at(-1)')).toEqual(['ADDED', 'seen', '3'])
    // The watch resumes from its last resourceVersion on another socket.
    await client.send('POST', CONFIG_MAPS, { metadata: { name: 'later' }, data: { n: '0' } })
    const rest = await page.run(`
      socket.close()
      const from = socket.events.at(-1).object.metadata.resourceVersion
      return watch('&resourceVersion=' + from, 'kedge-test', protocolOf(token)).has(1)`)
    expect(rest).toEqual([['ADDED', 'later', '0']])
  })

  test('gets a close frame at the end of a watch', async () => {
    const page = await dashboard()
    const ended = await page.run(`return watch('&timeoutSeconds=1', protocolOf(token), 'kedge-test').closed`)
    expect(ended).toEqual([1000, true])
  })

  test.each([
    ['no credentials', ''],
    ['no credentials, but a protocol', `'kedge-test'`],
    ['a token that is none', `protocolOf('nonsense'), 'kedge-test'`],
    ['a token and nothing to answer with', `protocolOf(token)`],
  ])('gets no socket with %s', async (_, protocols) => {
    const page = await dashboard()
    const ended = await page.run(`return watch(${["''", protocols].filter(Boolean).join(', ')}).closed`)
    expect(ended).toEqual([1006, false])
  })

  test('of another origin cannot read what it fetches', async () => {
    const page = await dashboard()
    const read = page.run(`return (await fetch(${JSON.stringify(`${server.url}/version`)})).json()`)
    await expect(read).rejects.toThrow('Failed to fetch')
  })

  describe('of an allowed origin', () => {
    let open: KedgeProcess

    beforeAll(async () => {
      open = await startKedge(['--ephemeral', '--port', '0', '--cors-allowed-origins', '//127\\.0\\.0\\.1(:|$)'])
      await browser.open(`${open.url}/version`)
    })
    afterAll(() => open?.stop())

    test('writes, lists and watches with fetch, and reads refusals', async () => {
      const config = JSON.parse(readFileSync(open.kubeconfig, 'utf8')) as { users: [{ user: { token: string } }] }
      const { port } = pages.address() as AddressInfo
      const page = await browser.open(`http://127.0.0.1:${port}/`)
      const answers = await page.run(`
        const send = (method, path, body, type = 'application/json') =>
          fetch(${JSON.stringify(open.url + CONFIG_MAPS)} + path, {
            method,
            headers: { Authorization: 'Bearer ' + ${JSON.stringify(config.users[0].user.token)}, 'Content-Type': type },
            body: body && JSON.stringify(body),
          })
        const kind = async (answer) => [answer.status, (await answer.json()).kind]
        const all = [await kind(await send('POST', '', { metadata: { name: 'by-page' } }))]
        all.push(await kind(await send('PATCH', '/by-page', { data: { n: '1' } }, 'application/merge-patch+json')))
        all.push(await kind(await send('GET', '')))
        all.push(await kind(await send('GET', '/nothing')))
        const { body } = await send('GET', '?watch=1&timeoutSeconds=1')
        const text = await new Response(body).text()
        all.push([text.includes('by-page'), (await send('DELETE', '/by-page')).status])
        return all`)
      expect(answers).toEqual([
        [201, 'ConfigMap'],
        [200, 'ConfigMap'],
        [200, 'ConfigMapList'],
        [404, 'Status'],
        [true, 200],
      ])
    })
  })

  // a browser opens six connections to a server that speaks HTTP/1.1 alone
  test('of the same origin has twelve watches at once, and goes on to read', async () => {
    const page = await browser.open(`${server.url}/version`)
    const seen = await page.run<readonly [statuses: number[], read: number]>(`
      const get = (path) => fetch(path, { headers: { Authorization: 'Bearer ' + ${JSON.stringify(token)} } })
      const watches = Array.from({ length: 12 }, (_, n) =>
        get(${JSON.stringify(CONFIG_MAPS)} + '?watch=1&timeoutSeconds=60&labelSelector=n%3D' + n))
      const statuses = (await Promise.all(watches)).map(({ status }) => status)
      return [statuses, (await get(${JSON.stringify(CONFIG_MAPS)})).status]`)
    expect(seen).toEqual([Array<number>(12).fill(200), 200])
  })

  test('of the same origin lists and watches with fetch', async () => {
    await client.send('POST', CONFIG_MAPS, { metadata: { name: 'fetched' } })
    const page = await browser.open(`${server.url}/version`)
    const get = (path: string) =>
      `fetch(${JSON.stringify(path)}, { headers: { Authorization: 'Bearer ' + ${JSON.stringify(token)} } })`
    expect(await page.run(`return (await fetch(${JSON.stringify(CONFIG_MAPS)})).status`)).toBe(403)
    const version = await page.run<string>(`
      const { items, metadata } = await (await ${get(CONFIG_MAPS)}).json()
      if (!items.some(({ metadata }) => metadata.name === 'fetched')) throw new Error('not in the list')
      return metadata.resourceVersion`)
    const next = page.run<string>(`
      const { body } = await ${get(`${CONFIG_MAPS}?watch=1&resourceVersion=${version}`)}
      let text = ''
      for await (const part of body.pipeThrough(new TextDecoderStream())) if ((text += part).trim() !== '') return text`)
    await client.send('DELETE', `${CONFIG_MAPS}/fetched`)
    expect(JSON.parse(await next)).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'fetched' } } })
  })
})
