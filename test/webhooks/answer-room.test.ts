import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { withRoom } from '../../src/webhooks/answer-room.ts'
import { CallFailed, MAX_ANSWER, readAnswer } from '../../src/webhooks/outgoing-call.ts'
import { reviewIn } from '../../src/webhooks/review-reply.ts'

let tenants = 0
const caller = (uid = `tenant-of-answers-${++tenants}`) => {
  const state = { now: 0, isGone: false }
  return {
    state,
    tenant: { uid },
    clock: () => state.now,
    gone: () => ({ aborted: state.isGone }) as AbortSignal,
  }
}

/** Takes room, and holds it until it is told to end. */
function holding(of: ReturnType<typeof caller>, size = MAX_ANSWER) {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const seen = { waited: undefined as string | undefined }
  const done = withRoom(of, async (take) => {
    seen.waited = await take(size)
    await promise
  })
  return { seen, done, end }
}

describe('a long answer', () => {
  test('waits for one of its control plane, and for none of another', async () => {
    const mine = caller()
    const first = holding(mine)
    const second = holding(mine)
    const others = holding(caller())
    await pause(5)
    expect([first, second, others].map(({ seen }) => seen.waited)).toEqual(['at once', undefined, 'at once'])
    first.end()
    await first.done
    await pause(5)
    expect(second.seen.waited).toBe('after others')
    second.end()
    others.end()
    await Promise.all([second.done, others.done])
  })

  test('waits no longer than a while, and is then no failure of its webhook', async () => {
    const mine = caller()
    const first = holding(mine)
    const second = holding(mine)
    mine.state.now = 15_000
    await expect(second.done).rejects.toThrow(StatusError)
    await expect(second.done).rejects.toMatchObject({ code: 429 })
    first.end()
  })

  test('waits no longer than its client', async () => {
    const mine = caller()
    const first = holding(mine)
    const second = holding(mine)
    mine.state.isGone = true
    await expect(second.done).rejects.toThrow(CallFailed)
    await expect(second.done).rejects.toThrow('context canceled')
    first.end()
  })

  test('is refused where its time is over after it waited for room', async () => {
    async function* late() {
      yield new Uint8Array(100_000)
      throw new DOMException('too late', 'TimeoutError')
    }
    await expect(readAnswer(late(), async () => 'after others')).rejects.toMatchObject({ code: 429 })
    await expect(readAnswer(late(), async () => 'at once')).rejects.toThrow('too late')
  })

  test('that is short waits for none', async () => {
    const mine = caller()
    const first = holding(mine)
    const second = holding(mine, 1_000)
    second.end()
    await second.done
    expect(second.seen.waited).toBe('at once')
    first.end()
  })
})

test.each(['200', '500'])('a long answer with status %s is read in turns with others', async (status) => {
  const response = { uid: 'a', allowed: true, warnings: Array.from({ length: 20_000 }, (_, at) => `warning ${at}`) }
  const body = JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response })
  let turns = 0
  const others = setInterval(() => turns++, 0)
  const answer = { status: Number(status), contentType: 'application/json', body: new TextEncoder().encode(body) }
  await reviewIn(answer, { group: 'admission.k8s.io', version: 'v1', kind: 'AdmissionReview' }).catch(() => {})
  clearInterval(others)
  expect(turns).toBeGreaterThan(2)
})
