/** Requests whose time is over. The expected answer is that of kube-apiserver 1.36.3. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { platformClock } from '../../src/base/clock.ts'
import { RESTORE_PATH } from '../../src/endpoints/backup/restore.ts'
import { inTime } from '../../src/request/in-time.ts'
import { serve } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
/** In three hundred years. */
const FUTURE = '18446744073709551'

afterEach(() => vi.useRealTimers())

describe('a list or get at a revision that has not come yet', () => {
  const { env } = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const later: Promise<unknown>[] = []
  const execution = { waitUntil: (work: Promise<unknown>) => void later.push(work) } as unknown as ExecutionContext

  async function answered(path: string, headers: Record<string, string> = {}, settings = env) {
    const all = { Authorization: `Bearer ${TOKEN}`, 'Audit-Id': 'mine', ...headers }
    const response = await serve(
      new Request(`https://server${path}`, { headers: all }),
      settings,
      execution,
      platformClock,
    )
    return { code: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
  }

  const LATE = {
    code: 504,
    headers: { 'audit-id': 'mine', 'cache-control': 'no-cache, private', 'content-type': 'text/plain; charset=utf-8' },
    text: '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}\n',
  }

  test.each([
    `/api/v1/configmaps?resourceVersion=${FUTURE}&timeout=300ms`,
    `/api/v1/configmaps?resourceVersion=${FUTURE}&resourceVersionMatch=Exact&timeout=300ms`,
    `/api/v1/namespaces/default/configmaps/a?resourceVersion=${FUTURE}&timeout=300ms`,
  ])('ends after its time: %s', async (path) => {
    expect(await answered(path)).toEqual(LATE)
  })

  test('ends in this form whatever it accepts', async () => {
    const path = `/api/v1/configmaps?resourceVersion=${FUTURE}&timeout=300ms`
    expect(await answered(path, { Accept: 'application/vnd.kubernetes.protobuf' })).toEqual(LATE)
  })

  test('ends after --request-timeout, whatever it says', async () => {
    const { env: short } = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_REQUEST_TIMEOUT: '1s' })
    expect(await answered(`/api/v1/configmaps?resourceVersion=${FUTURE}&timeout=1h`, {}, short)).toEqual(LATE)
  })

  test('without a limit says that the revision has not come', async () => {
    const { code, text } = await answered(`/api/v1/configmaps?resourceVersion=${FUTURE}&timeout=0s`)
    expect([code, text]).toEqual([504, expect.stringContaining('Too large resource version')])
  })

  test('goes on to its end', async () => {
    await answered(`/api/v1/configmaps?resourceVersion=${FUTURE}&timeout=300ms`)
    await later.at(-1)
  })
})

describe('which requests end', () => {
  const late = () => new Response('late')

  test.each([
    ['/api/v1/pods?timeout=2s', undefined, 2_000],
    ['/api/v1/pods?timeout=2s', '1s', 1_000],
    ['/api/v1/pods', '1s', 1_000],
    ['/version?timeout=2s', undefined, 2_000],
    // by themselves they wait nowhere as long
    ['/api/v1/pods', undefined, undefined],
    ['/api/v1/pods?timeout=2m', undefined, undefined],
    // another step refuses it
    ['/api/v1/pods?timeout=x', undefined, undefined],
    ['/api/v1/pods?watch=1&timeout=2s', '1s', undefined],
    ['/api/v1/namespaces/default/pods/a/log?timeout=2s', '1s', undefined],
    ['/backup?timeout=2s', '1s', undefined],
    [`${RESTORE_PATH}?timeout=2s`, '1s', undefined],
  ])('%s with a limit of %s: after %s', async (path, limit, milliseconds) => {
    vi.useFakeTimers()
    const server = memoryServer(limit === undefined ? {} : { KEDGE_REQUEST_TIMEOUT: limit })
    let isAnswered = false
    void inTime(server.request(path), () => new Promise(() => undefined), late).then(() => (isAnswered = true))
    await vi.advanceTimersByTimeAsync((milliseconds ?? 200_000) - 1)
    expect(isAnswered).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(isAnswered).toBe(milliseconds !== undefined)
  })

  test('what is there in time leaves no timer', async () => {
    vi.useFakeTimers()
    const server = memoryServer()
    const soon = await inTime(server.request('/version?timeout=2s'), async () => new Response('in time'), late)
    expect(await soon.text()).toBe('in time')
    const failed = inTime(server.request('/version?timeout=2s'), () => Promise.reject(new Error('no')), late)
    await expect(failed).rejects.toThrow('no')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('nobody reads an answer that comes later', async () => {
    vi.useFakeTimers()
    const server = memoryServer()
    const later: Promise<unknown>[] = []
    const request = {
      ...server.request('/version?timeout=2s'),
      waitUntil: (work: Promise<unknown>) => void later.push(work),
    }
    const canceled = vi.fn()
    const body = new ReadableStream({ cancel: canceled })
    const slow = new Promise<Response>((resolve) => setTimeout(() => resolve(new Response(body)), 3_000))
    const answer = inTime(request, () => slow, late)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await (await answer).text()).toBe('late')
    await vi.advanceTimersByTimeAsync(1_000)
    await Promise.all(later)
    expect(canceled).toHaveBeenCalledOnce()
  })

  describe('one with the usual time that asks others', () => {
    /** A request that asks as many servers, each of which takes half a minute. */
    function asking(path: string, servers: number) {
      vi.useFakeTimers()
      const gone = () => new AbortController().signal
      const request = Object.assign(memoryServer().request(path), { gone })
      const steps = async (): Promise<Response> => {
        for (let n = 0; n < servers; n++) {
          request.gone()
          await new Promise((resolve) => setTimeout(resolve, 30_000))
        }
        return new Response('in time')
      }
      return inTime(request, steps, late).then((answer) => answer.text())
    }

    test('ends after its time', async () => {
      let text: string | undefined
      void asking('/api/v1/pods', 4).then((answer) => (text = answer))
      await vi.advanceTimersByTimeAsync(59_999)
      expect(text).toBeUndefined()
      await vi.advanceTimersByTimeAsync(1)
      expect(text).toBe('late')
    })

    test.each([
      ['/api/v1/pods', 1],
      ['/api/v1/pods?watch=1', 4],
    ])('%s and asks %i is answered by its steps', async (path, servers) => {
      const answer = asking(path, servers)
      await vi.advanceTimersByTimeAsync(servers * 30_000)
      expect(await answer).toBe('in time')
      expect(vi.getTimerCount()).toBe(0)
    })

    test('has no limit once it is answered', async () => {
      vi.useFakeTimers()
      const gone = () => new AbortController().signal
      const request = Object.assign(memoryServer().request('/api/v1/pods'), { gone })
      await inTime(request, async () => new Response('in time'), late)
      request.gone()
      expect(vi.getTimerCount()).toBe(0)
    })
  })
})
