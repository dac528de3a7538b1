import { describe, expect, it } from 'vitest'
import { historyOf, parseHistory } from '../../src/storage/history.ts'

describe('the history of a shard', () => {
  it.each([
    [undefined, 'root/pods', 300_000],
    ['', 'root/pods', 300_000],
    ['60', 'root/pods', 60_000],
    ['60', 'acme/pods', 60_000],
    ['60,acme=172800', 'root/pods', 60_000],
    ['60,acme=172800', 'acme/pods', 172_800_000],
    [' acme = 172800 , 60 ,', 'acme/control', 172_800_000],
    ['acme=172800', 'root/pods', 300_000],
    ['acme=1,acme-2=2', 'acme-2/pods', 2_000],
  ])('set to %j is for %s %d ms', (setting, shard, retention) => {
    expect(historyOf(parseHistory(setting), shard)).toEqual({ retention })
  })

  it('is bounded by a number of changes for what is renewed for ever, whatever the tenant wants', () => {
    for (const shard of ['acme/leases.coordination.k8s.io', 'acme/events'])
      expect(historyOf(parseHistory('acme=172800'), shard)).toMatchObject({ retention: 172_800_000, changes: 10_000 })
    expect(historyOf(parseHistory(), 'acme/events', 3_600_000).expiry).toBe(3_600_000)
    expect(historyOf(parseHistory(), 'acme/events')).not.toHaveProperty('expiry')
    expect(historyOf(parseHistory(), 'acme/leases.coordination.k8s.io', 3_600_000).expiry).toBeUndefined()
  })

  it.each([
    ['5m', 'the setting of the history has "5m": not a number of seconds from 1 to 2678400 (31 days)'],
    ['0', 'the setting of the history has "0": not a number of seconds from 1 to 2678400 (31 days)'],
    ['-5', 'the setting of the history has "-5": not a number'],
    ['1.5', 'has "1.5": not a number'],
    ['1e3', 'has "1e3": not a number'],
    ['99999999', 'has "99999999": not a number'],
    ['acme=', 'has "acme=": not a number'],
    ['=5', 'has "=5": not a number'],
    ['a/b=5', 'has "a/b=5": not a number'],
    ['300,600', 'has "600": a second time without a tenant'],
    ['acme=1,acme=2', 'has "acme=2": a tenant for the second time'],
  ])('refuses %j', (setting, message) => {
    expect(() => parseHistory(setting)).toThrow(message)
  })
})
