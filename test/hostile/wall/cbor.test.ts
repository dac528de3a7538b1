// CBOR needs a feature gate, so these cases have a server of their own. kube-apiserver has the same gate.
import { afterAll, beforeAll } from 'vitest'
import { cborPlaces } from './cbor-places.ts'
import { cbor } from './cbor.ts'
import { runRows } from './run-rows.ts'
import { World } from './world.ts'

let world: World

beforeAll(async () => {
  world = await World.start('--feature-gates', 'CBORServingAndStorage=true')
  await world.prepare()
})
afterAll(() => world?.stop())

runRows('CBOR', cbor, () => world)
runRows('CBOR in other places', cborPlaces, () => world)
