import { request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadable } from 'node:stream/web'

/** Stands for the engine's service binding. */
export const bindingTo = (socketPath: string) => ({
  fetch: (url: string, init: RequestInit): Promise<Response> =>
    new Promise((resolve, reject) => {
      const request = httpRequest({ socketPath, path: new URL(url).pathname, method: 'POST' }, (answer) => {
        const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
        // Node and the DOM declare the same stream type twice
        const body = Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>
        resolve(new Response(body, { status: answer.statusCode ?? 0, headers }))
      })
      request.on('error', reject)
      if (typeof init.body === 'string') request.end(init.body)
      // as above
      else Readable.fromWeb(init.body as unknown as NodeReadable).pipe(request)
    }),
})
