import { expect, test } from 'vitest'
import { RequestHeaders } from '../../src/request/request-headers.ts'
import { connectionUpgrades, wantsUpgrade, wantsWebSocket } from '../../src/request/upgrade.ts'

test.each([
  [{ Connection: 'Upgrade', Upgrade: 'websocket' }, true, true, true],
  [{ Connection: 'keep-alive, upgrade', Upgrade: 'WebSocket' }, true, true, true],
  [{ Connection: 'Upgrade', Upgrade: 'SPDY/3.1' }, true, true, false],
  [{ Connection: 'Upgrade' }, true, false, false],
  [{ Connection: 'keep-alive', Upgrade: 'websocket' }, false, false, false],
  // the platform keeps it to itself
  [{ Upgrade: 'websocket' }, true, true, true],
  [{}, false, false, false],
])('%j', (headers, connection, any, webSocket) => {
  const read = RequestHeaders.of(new Headers(headers as Record<string, string>))
  expect([connectionUpgrades(read), wantsUpgrade(read), wantsWebSocket(read)]).toEqual([connection, any, webSocket])
})
