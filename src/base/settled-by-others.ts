/**
 * A promise of this request that another request settles. workerd records in a promise which request created it, and
 * continues the awaiting code there. `new Promise` sometimes lacks this record, it seems after V8 has optimized the
 * code. Then the awaiting code continues in the other request, and a response that it creates there is an error.
 */
export const settledByOthers = <Value>(): PromiseWithResolvers<Value> => Promise.withResolvers<Value>()
