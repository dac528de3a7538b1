// The expected results are those of Go's encoding/pem.
import { expect, test } from 'vitest'
import { pemBlocks } from '../../src/x509/pem.ts'

const A = '-----BEGIN A-----\n'
const END_A = '-----END A-----\n'

test.each<[what: string, text: string, types: string[]]>([
  ['nothing', '', []],
  ['one block', `${A}AAAA\n${END_A}`, ['A']],
  ['without the last line break', `${A}AAAA\n-----END A-----`, ['A']],
  ['text around it', `x\n${A}AAAA\n${END_A}y`, ['A']],
  ['two', `${A}AAAA\n${END_A}-----BEGIN B-----\nAAAA\n-----END B-----\n`, ['A', 'B']],
  ['blanks at the ends of lines', '-----BEGIN A----- \t\r\nAA AA\r\n-----END A-----  \r\n', ['A']],
  ['an empty body', `${A}${END_A}`, ['A']],
  ['an end within a line', `${A}AAAA-----END A-----\n`, []],
  ['an end of another type', `${A}AAAA\n-----END B-----\n`, []],
  ['text behind the end', `${A}AAAA\n-----END A-----x\n`, []],
  ['a beginning within a line', `x${A}AAAA\n${END_A}`, []],
  ['no base64', `${A}A!AA\n${END_A}`, []],
  ['base64 without its padding', `${A}AAA\n${END_A}`, []],
  ['a block that does not end before one that does', `${A}-----BEGIN B-----\nAAAA\n-----END B-----\n`, ['B']],
  ['no end at all', A, []],
])('%s', (_, text, types) => {
  expect(pemBlocks(text).map(({ type }) => type)).toEqual(types)
})

test('headers are reported and are no part of the bytes', () => {
  const [block] = pemBlocks(`${A}Proc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nAAAA\n${END_A}`)
  expect(block).toEqual({ type: 'A', bytes: Uint8Array.of(0, 0, 0), hasHeaders: true })
})
