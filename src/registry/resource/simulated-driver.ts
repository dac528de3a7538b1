/** Whose devices those of simulated nodes are. */
export const SIMULATED_DRIVER = 'simulated.kedge.dev'
