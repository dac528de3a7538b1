import type { Controller } from '../controller.ts'
import type { Topic } from '../../registry/work/topic.ts'

/** Hands its key to `controller` after `delay` milliseconds, which then handles several changes at once. */
export const afterAWhile = (controller: Topic, delay: number): Controller => ({
  reconcile(key, context) {
    context.later(controller, key, delay)
    return Promise.resolve(undefined)
  },
})
