// A container runtime that runs no containers: the parts of the Container Runtime Interface (runtime.v1, gRPC on a unix
// socket) that a kubelet needs for a ready node. Every list is empty.
import { createServer } from 'node:http2'
import type { ServerHttp2Stream } from 'node:http2'
import { ownValue } from '../../../src/base/own.ts'

/** A field of a protobuf message: a text or a nested message. */
const field = (number: number, value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
}
const isTrue = (number: number): Buffer => Buffer.from([number << 3, 1])
const condition = (type: string): Buffer => field(1, Buffer.concat([field(1, type), isTrue(2)]))

const answers: Readonly<Record<string, Buffer>> = {
  '/runtime.v1.RuntimeService/Version': Buffer.concat([
    field(1, '0.1.0'),
    field(2, 'nothing'),
    field(3, '1.0.0'),
    field(4, 'v1'),
  ]),
  '/runtime.v1.RuntimeService/Status': field(1, Buffer.concat([condition('RuntimeReady'), condition('NetworkReady')])),
}

function answer(stream: ServerHttp2Stream, path: string): void {
  const message = ownValue(answers, path) ?? Buffer.alloc(0)
  const length = Buffer.alloc(5) // a gRPC prefix: not compressed, and the length
  length.writeUInt32BE(message.length, 1)
  stream.on('error', () => {}).resume()
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(Buffer.concat([length, message]))
}

export async function startContainerRuntime(socket: string): Promise<{ close(): void }> {
  const server = createServer()
  server.on('stream', (stream, headers) => answer(stream, headers[':path'] ?? ''))
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  return { close: () => void server.close() }
}
