import { expect, test } from 'vitest'
import { parseDevices } from '../../../src/controllers/simulation/device-list.ts'

const named = (text: string) => parseDevices(text).map(({ name }) => name)

test.each([
  ['', []],
  ['gpu=2', ['gpu-0', 'gpu-1']],
  [' gpu=1 , nic=1 ,', ['gpu-0', 'nic-0']],
])('%j lists %j', (text, want) => expect(named(text)).toEqual(want))

test('attributes have the type of their value, capacities are quantities', () => {
  expect(parseDevices('gpu=1; model=a100; cores=-4; ecc=true; driver=1.2.3; memory:80Gi')).toEqual([
    {
      name: 'gpu-0',
      attributes: {
        type: { string: 'gpu' },
        model: { string: 'a100' },
        cores: { int: -4 },
        ecc: { bool: true },
        driver: { version: '1.2.3' },
      },
      capacity: { memory: { value: '80Gi' } },
    },
  ])
})

test.each([
  ['gpu', '"gpu" is no TYPE=COUNT'],
  ['gpu=0', '"gpu=0" is no TYPE=COUNT'],
  ['gpu=200', '"gpu=200" is no TYPE=COUNT'],
  ['GPU=1', '"GPU=1" is no TYPE=COUNT'],
  ['gpu=1=2', '"gpu=1=2" is no TYPE=COUNT'],
  ['gpu=1;memory:much', '"memory:much" is neither ATTRIBUTE=VALUE nor CAPACITY:QUANTITY'],
  ['gpu=1;type=x', '"type=x" is neither ATTRIBUTE=VALUE nor CAPACITY:QUANTITY'],
  ['gpu=1;a b=x', '"a b=x" is neither ATTRIBUTE=VALUE nor CAPACITY:QUANTITY'],
  [`gpu=1;a=${'x'.repeat(65)}`, 'is neither ATTRIBUTE=VALUE nor CAPACITY:QUANTITY'],
  [`gpu=1;${Array.from({ length: 32 }, (_, at) => `a${at}=1`).join(';')}`, 'a device has at most 31 attributes'],
  ['gpu=100,nic=100', 'a node has at most 128 devices'],
  ['gpu=1,gpu=1', 'a type of devices is listed twice'],
  ['x'.repeat(10_001), 'a list of devices has at most 10000 characters'],
])('%j is refused: %s', (text, why) => expect(() => parseDevices(text)).toThrow(why))
