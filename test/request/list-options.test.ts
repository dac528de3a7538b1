import { describe, expect, it } from 'vitest'
import { parseListOptions } from '../../src/request/options.ts'
import { parseQuery } from '../../src/request/query-parameters.ts'

const enabled = (gate: string): boolean => gate === 'WatchList'
const parse = (query: string) => () => parseListOptions(parseQuery(query), false, enabled)

describe('options of a list', () => {
  it.each(['list', 'watch'])('that should be divided are refused where the feature is on: a %s', (verb) => {
    const query = parseQuery("shardSelector=shardRange(object.metadata.uid,'0x0','0x8')")
    expect(parseListOptions(query, verb === 'watch', enabled)).toMatchObject({ limit: 0 })
    expect(() => parseListOptions(query, verb === 'watch', () => true)).toThrow('shardSelector must be empty')
    expect(parseListOptions(parseQuery('shardSelector='), verb === 'watch', () => true)).toMatchObject({ limit: 0 })
  })

  it('that cannot be read are told of before those that make no sense', () => {
    expect(parse('sendInitialEvents=1')).toThrow('sendInitialEvents is forbidden for list')
    expect(parse('sendInitialEvents=1&labelSelector=!!a')).toThrow("found '!', expected: identifier")
    expect(parse('sendInitialEvents=1&labelSelector=!!a&limit=x')).toThrow('strconv.ParseInt')
  })

  it('of a watch that only its path makes one are those of a list', () => {
    const query = parseQuery('resourceVersion=5&resourceVersionMatch=Exact')
    expect(parseListOptions(query, true, enabled)).toMatchObject({ watch: true, resourceVersionMatch: 'Exact' })
    query.append('watch', '1')
    expect(() => parseListOptions(query, true, enabled)).toThrow('resourceVersionMatch is forbidden for watch')
  })

  it('of a watch have no continue', () => {
    expect(() => parseListOptions(parseQuery('watch=1&continue=x'), true, enabled)).toThrow(
      'resourceVersionMatch is forbidden when continue is provided',
    )
  })

  it.each([
    ['watch=1&continue=x&resourceVersion=5', undefined],
    ['watch=1&continue=x&resourceVersion=0', 'resourceVersionMatch is forbidden when continue is provided'],
    ['watch=1&continue=x&sendInitialEvents=1', /^[^[]*sendInitialEvents requires setting resourceVersionMatch/],
  ])('of a watch have a continue where they have no match: %s', (query, message) => {
    const act = () => parseListOptions(parseQuery(query), true, enabled)
    if (message === undefined) expect(act).not.toThrow()
    else expect(act).toThrow(message)
  })

  it('of a watch have initial events with WatchList alone', () => {
    const query = parseQuery('watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan')
    expect(parseListOptions(query, true, enabled)).toMatchObject({ sendInitialEvents: true })
    expect(() => parseListOptions(query, true, () => false)).toThrow(
      'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    )
  })
})
