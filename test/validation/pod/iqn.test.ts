// iSCSI initiator names (IQN): our linear parser accepts exactly what kube-apiserver's regular expression accepts.
import { expect, test } from 'vitest'
import fc from '../../chance.ts'
import { IQN_FORMATS } from '../../../src/validation/pod/volume-sources.ts'

const EXPRESSION = /iqn\.\d{4}-\d{2}\.([-.a-zA-Z0-9]+)(:[^,;*&$|\s]+)$/

test('an iqn is read as the expression reads it', () => {
  const part = fc.constantFrom('iqn.2001-04.', 'iqn', '.', 'com', ':', 'a', '-', ' ', ',', '_', '9', '2001')
  const format = IQN_FORMATS.find(([prefix]) => prefix === 'iqn')![1]
  fc.assert(
    fc.property(fc.array(part, { maxLength: 10 }), (parts) => {
      const name = parts.join('')
      expect(format.test(name)).toBe(EXPRESSION.test(name))
    }),
    { numRuns: 5_000 },
  )
})
