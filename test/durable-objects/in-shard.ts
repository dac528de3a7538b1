import { runInDurableObject } from 'cloudflare:test'
import type { ResourceShard } from '../../durable-objects/resource-shard.ts'
import type { ShardCalls } from '../../src/storage/object-calls.ts'

/** Runs in the object what callers cannot reach. */
export const inShard = <Result>(
  stub: DurableObjectStub<ShardCalls>,
  work: (shard: ResourceShard) => Result | Promise<Result>,
): Promise<Result> =>
  // the class behind the binding
  runInDurableObject(stub, (instance) => work(instance as unknown as ResourceShard))
