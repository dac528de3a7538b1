/** The binding through which the engine passes outgoing calls to the front, for tests that run in Node. */
import { request as httpRequest } from 'node:http'

/** @param socket the path of the front's socket */
export const outgoingBinding = (socket: string) => ({
  fetch: (_url: string, init: RequestInit): Promise<Response> =>
    new Promise((resolve, reject) => {
      const { signal } = init
      const request = httpRequest({ socketPath: socket, method: 'POST', ...(signal ? { signal } : {}) }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => {
          const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
          resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode, headers }))
        })
      })
      request.on('error', reject)
      request.end(init.body)
    }),
})
