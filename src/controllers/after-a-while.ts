import type { Controller } from './controller.ts'
import type { Topic } from '../registry/topic.ts'

/** Hands its key on, so many milliseconds later: what happens in the meantime is looked at together. */
export const afterAWhile = (controller: Topic, delay: number): Controller => ({
  reconcile(key, context) {
    context.later(controller, key, delay)
    return Promise.resolve(undefined)
  },
})
