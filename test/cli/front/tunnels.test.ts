/** Joins two connections, which are in-memory duplex pairs here. */
import { duplexPair } from 'node:stream'
import type { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { Tunnels, join } from '../../../src/cli/front/tunnels.ts'

const said = Buffer.from('HTTP/1.1 101\r\n\r\n')
const textOf = async (stream: Duplex): Promise<string> => {
  let text = ''
  for await (const part of stream) text += String(part)
  return text
}

test('a ticket opens one tunnel only', () => {
  const tunnels = new Tunnels()
  const [socket] = duplexPair()
  const ticket = tunnels.hold({ socket, said })!
  expect(tunnels.take('other')).toBeUndefined()
  expect(tunnels.take(ticket)).toMatchObject({ socket, said })
  expect(tunnels.take(ticket)).toBeUndefined()
  expect(socket.destroyed).toBe(false)
})

test('waiting tunnels end with the server, and ended ones no longer wait', async () => {
  const tunnels = new Tunnels()
  const [gone] = duplexPair()
  const [left] = duplexPair()
  const first = tunnels.hold({ socket: gone, said })!
  tunnels.hold({ socket: left, said })
  gone.destroy()
  await new Promise((resolve) => gone.once('close', resolve))
  expect(tunnels.take(first)).toBeUndefined()
  tunnels.close()
  expect(left.destroyed).toBe(true)
})

test('each side receives all octets of the other in order, to the end', async () => {
  const [client, clientEnd] = duplexPair()
  const [server, serverEnd] = duplexPair()
  join(clientEnd, Buffer.from('ahead '), { socket: serverEnd, said })
  const big = 'x'.repeat(1 << 20)
  client.end(`from the client ${big}`)
  server.end(`from the server ${big}`)
  const [atClient, atServer] = await Promise.all([textOf(client), textOf(server)])
  expect(atClient).toBe(`${String(said)}from the server ${big}`)
  expect(atServer).toBe(`ahead from the client ${big}`)
})

test('a connection that breaks ends the other one', async () => {
  const [client, clientEnd] = duplexPair()
  const [, serverEnd] = duplexPair()
  join(clientEnd, Buffer.alloc(0), { socket: serverEnd, said })
  client.resume()
  serverEnd.destroy(new Error('reset'))
  await new Promise((resolve) => clientEnd.once('close', resolve))
  expect(clientEnd.destroyed).toBe(true)
})
