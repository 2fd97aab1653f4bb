/** Constrained decoding with libelizainference: a model in this process says only what is allowed. */
package eliza.inference;
