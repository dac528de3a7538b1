import { describe, expect, it } from 'vitest'
import { parseListOptions, parseQuery } from '../../src/request/options.ts'

const parse = (query: string) => () => parseListOptions(parseQuery(query), false)

describe('options of a list', () => {
  it('that cannot be read are told of before those that make no sense', () => {
    expect(parse('sendInitialEvents=1')).toThrow('sendInitialEvents is forbidden for list')
    expect(parse('sendInitialEvents=1&labelSelector=!!a')).toThrow("found '!', expected: identifier")
    expect(parse('sendInitialEvents=1&labelSelector=!!a&limit=x')).toThrow('strconv.ParseInt')
  })
})
