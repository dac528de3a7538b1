import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engineConfig } from '../../../src/cli/engine/config.ts'
import { parseWranglerConfig, readWranglerConfig } from '../../../src/cli/engine/wrangler-config.ts'

test('reads date, flags, variables and durable objects', () => {
  const text = `
# a comment
name = "x"
compatibility_date = "2026-01-02"
compatibility_flags = ["a", "b"]
no_bundle = true
rules = [{ type = "ESModule", globs = ["**/*.js"] }]
[vars]
A = "1\\n\\"2\\""
[[durable_objects.bindings]]
name = "SHARDS"
class_name = "ResourceShard"
[[durable_objects.bindings]]
name = "OTHERS"
class_name = "Other"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["ResourceShard"]
`
  expect(parseWranglerConfig(text)).toEqual({
    compatibilityDate: '2026-01-02',
    compatibilityFlags: ['a', 'b'],
    vars: { A: '1\n"2"' },
    durableObjects: [
      { name: 'SHARDS', className: 'ResourceShard' },
      { name: 'OTHERS', className: 'Other' },
    ],
  })
})

test.each([
  ['what is no TOML, with its line', 'compatibility_date = "2026-01-02"\na = =', /^wrangler\.toml:2: Invalid TOML/],
  ['a setting that is missing', 'name = "x"', 'wrangler.toml: compatibility_date: is not a string'],
  [
    'a setting of another form',
    'compatibility_date = "2026-01-02"\n[[durable_objects.bindings]]\nname = "SHARDS"',
    'wrangler.toml: durable_objects.bindings.0.class_name: is not a string',
  ],
  [
    'a variable that is no text',
    'compatibility_date = "2026-01-02"\n[vars]\nN = 1',
    'wrangler.toml: vars.N: is not a string',
  ],
])('names %s', (_what, text, message) => {
  expect(() => parseWranglerConfig(text)).toThrow(message)
})

test("the project's own configuration gives one for the local engine", () => {
  const config = engineConfig({
    worker: readWranglerConfig(join(import.meta.dirname, '../../../wrangler.toml')),
    modules: ['index.js', 'chunk.js'],
    settings: { KEDGE_ISSUER: 'replaced', KEDGE_CA: '-----BEGIN\n"x"\u0001' },
    objects: '/data/objects',
    socket: '/data/engine.sock',
  })
  expect(config).toContain('(name = "SHARDS", durableObjectNamespace = "ResourceShard")')
  expect(config).toContain('(className = "ResourceShard", uniqueKey = "kedge-ResourceShard", enableSql = true)')
  expect(config).toContain('(name = "index.js", esModule = embed "worker/index.js")')
  expect(config).toContain('v8Flags = ["--max-semi-space-size=8", "--memory-saver-mode"]')
  expect(config).toContain('(name = "KEDGE_ISSUER", text = "replaced")')
  expect(config).toContain('(name = "KEDGE_CA", text = "-----BEGIN\\n\\"x\\"\\x01")')
  expect(config).toContain('(name = "KEDGE_SERVICE_RANGE", text = "10.96.0.0/16")')
})
