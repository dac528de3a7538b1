// The API server and other Workers on one engine, as on Cloudflare: they call each other through service bindings.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { upToDateBuild } from '../../src/cli/build/build.ts'
import { PROJECT, WORKER } from '../../src/cli/fresh-build.mjs'
import { readWranglerConfig } from '../../src/cli/engine/wrangler-config.ts'

/**
 * @param workers source of each module by name: the server has `hook` as the binding WORKER_HOOK
 * @param own settings in addition to those of wrangler.toml
 */
export async function startBoundEngine(
  workers: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Promise<Miniflare> {
  const { modules } = await upToDateBuild()
  const { compatibilityDate, compatibilityFlags, vars, durableObjects } = readWranglerConfig(
    join(PROJECT, 'wrangler.toml'),
  )
  const common = { compatibilityDate, compatibilityFlags: [...compatibilityFlags] }
  const texts = Object.entries({ ...vars, ...own }).map(([name, value]) => [name, { type: 'text', value }])
  const server = {
    ...common,
    name: 'kedge',
    manifest: {
      mainModule: modules[0]!,
      modulesRoot: WORKER,
      modules: Object.fromEntries(
        modules.map((name) => [
          name,
          {
            type: name.endsWith('.js') ? 'esm' : 'data',
            contents: new Uint8Array(readFileSync(join(WORKER, name))),
          },
        ]),
      ),
    },
    env: {
      ...Object.fromEntries(texts),
      ...Object.fromEntries(
        durableObjects.map(({ name, className }) => [
          name,
          { type: 'durable-object', worker: 'kedge', exportName: className },
        ]),
      ),
      ...Object.fromEntries(
        Object.keys(workers).map((worker) => [`WORKER_${worker.toUpperCase()}`, { type: 'worker', worker }]),
      ),
    },
    exports: Object.fromEntries(
      durableObjects.map(({ className }) => [className, { type: 'durable-object', storage: 'sqlite' }]),
    ),
  }
  const others = Object.entries(workers).map(([name, contents]) => ({
    config: {
      ...common,
      name,
      manifest: { mainModule: `${name}.js`, modules: { [`${name}.js`]: { type: 'esm', contents } } },
    },
  }))
  // The type of a manifest does not allow names that are computed here.
  const engine = new Miniflare({ workers: [{ config: server }, ...others] } as ConstructorParameters<
    typeof Miniflare
  >[0])
  await engine.ready
  return engine
}
