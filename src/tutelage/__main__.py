from tutelage.cli import main

main()
