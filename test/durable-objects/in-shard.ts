import { runInDurableObject } from 'cloudflare:test'
import type { ResourceShard } from '../../durable-objects/resource-shard.ts'
import type { ShardCalls } from '../../src/storage/shards/object-calls.ts'

/** Runs `work` in the object, with methods that RPC callers cannot reach. */
export const inShard = <Result>(
  stub: DurableObjectStub<ShardCalls>,
  work: (shard: ResourceShard) => Result | Promise<Result>,
): Promise<Result> =>
  // The binding's class is ResourceShard.
  runInDurableObject(stub, (instance) => work(instance as unknown as ResourceShard))
