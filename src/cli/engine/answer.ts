// Asks the engine of this start, at its socket.
import { request } from 'node:http'

export function engineAnswer(
  socketPath: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path, host: 'localhost', headers }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (body += chunk))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }))
      response.once('error', reject)
    })
      .once('error', reject)
      .end()
  })
}
