import { expect, test } from 'vitest'
import { ambiguityOf } from './ambiguous-patterns.ts'

const NESTED = 'a repetition within a repetition'
const NEIGHBOURS = 'two repetitions that share a character'
const OPEN = 'a repetition at the beginning, with something behind it'

test.each([
  [/^(?:a+)+$/, NESTED],
  [/^(?:a*b?)*$/, NESTED],
  [/^(?:[a-z]|\d+)*x$/, undefined],
  [/^(?:(a|b)*c?)+$/, NESTED],
  [/^(?:a+b)+$/, undefined],
  [/^(?:\d+[hms])+$/, undefined],
  [/^\d+\.?\d*$/, NEIGHBOURS],
  [/^\d+(?:\.\d*)?$/, undefined],
  [/^(.+?)\['(.*)'\]$/s, NEIGHBOURS],
  [/^[^=]*=.*$/, undefined],
  [/^a*a*$/, NEIGHBOURS],
  [/^(a*)(b?)(a*)$/, NEIGHBOURS],
  [/^a{3}a{1,4}$/, undefined],
  [/ +$/, OPEN],
  [/^ +/, undefined],
  [/ +/g, undefined],
  [/ +$/y, undefined],
  [/(\d+)\s*([a-z]+)/g, OPEN],
  [/(\d+)(?:\s*([a-z]+))?/g, undefined],
  [/BEGIN[^]*END/, OPEN],
  [/"[^"]*"/, undefined],
  [/\{[^}]*\}/, OPEN],
  [/^\{[^}]*\}/, undefined],
])('%s', (pattern, why) => {
  expect(ambiguityOf(pattern.source, pattern.flags)).toBe(why)
})
