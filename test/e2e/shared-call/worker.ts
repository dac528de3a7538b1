/** Requests that share a call: it ends when one of them says so. */
import { SharedCall } from '../../../src/tenancy/shared-call.ts'

const patient = new SharedCall<string>(() => Date.now(), 60_000)
const impatient = new SharedCall<string>(() => Date.now(), 100)
let asking = 0
let mayEnd = false

async function answer({ searchParams }: URL, waitUntil: (work: Promise<unknown>) => void): Promise<string> {
  const shared = searchParams.has('impatient') ? impatient : patient
  asking++
  const call = async () => {
    // timers belong to the request that sets them, like calls of an object
    while (!mayEnd) await new Promise<void>((resolve) => setTimeout(resolve, 10))
    return searchParams.get('by') ?? ''
  }
  return shared.answer(shared.underWay(Infinity) ?? shared.next, () => {
    const answer = call()
    if (searchParams.has('kept')) waitUntil(answer)
    return answer
  })
}

/** A look that began after the request: nobody takes one that was under way. */
const looks = new SharedCall<string>(() => Date.now())
const look = () =>
  looks.answer(looks.next, () => new Promise<string>((resolve) => setTimeout(() => resolve('looked'), 1)))

export default {
  async fetch(request, _env, execution) {
    const url = new URL(request.url)
    switch (url.pathname) {
      case '/call':
        return new Response(await answer(url, (work) => execution.waitUntil(work)))
      case '/look':
        return new Response(await look())
      case '/asking':
        return new Response(String(asking))
      default:
        mayEnd = url.pathname === '/end'
        asking = 0
        return new Response()
    }
  },
} satisfies ExportedHandler
