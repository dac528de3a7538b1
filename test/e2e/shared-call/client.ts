/** Hands requests on. The engine ends what a Worker asked for when it gives the request up, as it does for a client that goes. */
interface Env {
  readonly WORKER: Fetcher
}

/** Bound: the requests of a test. */
const givenUp = new Set<string>()

export default {
  async fetch({ url }, { WORKER }) {
    const { pathname, searchParams } = new URL(url)
    const name = searchParams.get('by') ?? ''
    if (pathname === '/give-up') {
      givenUp.add(name)
      return new Response()
    }
    const client = new AbortController()
    const watching = setInterval(() => {
      if (givenUp.delete(name)) client.abort()
    }, 5)
    try {
      return new Response(await (await WORKER.fetch(url, { signal: client.signal })).text())
    } catch {
      return new Response('given up')
    } finally {
      clearInterval(watching)
    }
  },
} satisfies ExportedHandler<Env>
