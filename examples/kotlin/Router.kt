// Chooses an action for a message with a model in the process. An Android activity does the same, on a thread of its own,
// with the path of a GGUF file that it has brought.
//
// On a desktop: kotlinc -cp elizainference-0.1.0.jar Router.kt, and the property eliza.inference.jni names the bridge.

import eliza.inference.Constraint
import eliza.inference.ElizaInference
import eliza.inference.Mode
import eliza.inference.Model
import eliza.inference.StreamConfig

/** What the model writes after a prompt, under a constraint. */
fun Model.write(prompt: String, constraint: Constraint): String = stream(StreamConfig()).use { stream ->
    val text = StringBuilder()
    stream.prefill(tokenize(prompt, true, false))
    stream.setConstraint(constraint, Mode.GREEDY)
    stream.generate(16) { _, part ->
        text.append(part)
        true
    }
    text.toString()
}

/** `RouterKt LIBLLAMA MODEL` */
fun main(arguments: Array<String>) {
    val (llama, path) = arguments
    ElizaInference.loadLlama(llama) // on Android: System.loadLibrary("llama")
    Model.open(path).use { model ->
        val actions = listOf(" REPLY", " SEND_EMAIL", " SET_TIMER", " PLAY_MUSIC")
        Constraint.choices(model.vocabulary(), actions).use { constraint ->
            println(model.write("User: set a timer for ten minutes\nAction:", constraint)) // prints:  SET_TIMER
        }
    }
}
