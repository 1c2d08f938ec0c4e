// Waiting for something to be so, by looking again.

/** Milliseconds that something on the page may take; a busy machine is slow, and a failure is to be one. */
export const PATIENCE = 60_000;

/**
 * Asks `read` again and again until `accept` likes the answer, and resolves to that.
 * What was read last is in the error.
 */
export async function until(what, read, accept = Boolean) {
    const end = Date.now() + PATIENCE;
    let last;
    do {
        try {
            last = await read();
            if (accept(last)) return last;
        } catch (error) {
            last = String(error.message ?? error).split('\n')[0];
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
    } while (Date.now() < end);
    throw new Error(`${what}: not within ${PATIENCE / 1000} s; seen last: ${JSON.stringify(last)}`);
}
