def main(out, quick, docs): raise NotImplementedError
