import { expect, test } from 'vitest'
import { elementText } from '../../src/schema/path-element.ts'

test.each([
  ['k:{"uid":9223372036854775807}', '[uid=9223372036854775807]'],
  ['k:{"a":1e20,"b":"x"}', '[a=1e+20,b="x"]'],
  ['v:null', '[=null]'],
  ['v:1.5', '[=1.5]'],
])('messages name the element %s %s', (element, text) => {
  expect(elementText(element)).toBe(text)
})
