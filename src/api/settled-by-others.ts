/**
 * A promise of this request that another request settles. The engine goes on in the request that made the promise, which
 * it notes in it. Of `new Promise` that note is missing at times, it seems once the code was optimized: who awaits it goes on
 * in the other request then, and the answer that it makes there is an error.
 */
export const settledByOthers = <Value>(): PromiseWithResolvers<Value> => Promise.withResolvers<Value>()
